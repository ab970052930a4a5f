import { readConfigFile } from "../../adapters/config-file.ts";
import { daemonStatus } from "../../daemon/running-daemon.ts";
import { listTools } from "../connect/list-tools.ts";
import { readToolHost } from "../connect/local-endpoint.ts";
import { describeStrayed } from "../connect/strayed-tools.ts";
import { note } from "../terminal/console.ts";

/** Names the connected tools whose requests no longer arrive, or are refused, after a change in this section of the file. */
export async function noteLeftTools(file: string, section: string | number | undefined): Promise<void> {
  if (section !== "listen" && section !== "access") return;
  const reading = await readConfigFile(file);
  if (!reading.ok) return;
  const { listen, access } = reading.config;
  if (section === "listen" && listen.port !== 0) {
    // The daemon may still be moving to another port.
    const strayed = await describeStrayed(listen.port, await daemonStatus());
    if (strayed !== null) note(strayed);
  }
  if (section === "access" && access.mode === "token") await noteToolsWithoutTokens();
}

async function noteToolsWithoutTokens(): Promise<void> {
  const tools = await listTools(readToolHost(), true);
  const refused = tools.flatMap(({ title, connections }) =>
    connections.flatMap(({ tokenFix }) => (tokenFix === null ? [] : [{ title, tokenFix }])),
  );
  if (refused.length === 0) return;
  const names = [...new Set(refused.map(({ title }) => title))].join(", ");
  const fixes = [...new Set(refused.map(({ tokenFix }) => tokenFix))].join("\n  ");
  note(
    `tollkeeper now refuses the requests of ${names}, which ${refused.length === 1 ? "has" : "have"} no local token. To add one, type:\n  ${fixes}`,
  );
}
