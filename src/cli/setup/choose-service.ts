import { parseBaseUrl } from "../../core/config/base-url.ts";
import type { Upstream } from "../../core/config/config.ts";
import { Failure } from "../../core/failure.ts";
import { askLine } from "../terminal/ask.ts";
import { confirm } from "../terminal/confirm.ts";
import { note } from "../terminal/console.ts";
import { WrongUsage } from "../wrong-usage.ts";
import type { SetupOptions } from "./options.ts";
import { findLocalBaseUrl, isLocalService, KNOWN_SERVICES, serviceAt, type Service } from "./services.ts";

/**
 * Finds out which service to use: from `--base-url`, from the configuration, or by asking.
 * @param existing the default upstream of the configuration; null without one
 * @returns null to keep the existing one as it is
 */
export async function chooseService(
  { baseUrl, keyStdin, yes }: SetupOptions,
  existing: Upstream | null,
): Promise<Service | null> {
  if (baseUrl !== undefined) return keepIfSame(parseOption(baseUrl, keyStdin), existing, keyStdin);
  if (existing !== null && (yes || (await confirm(`Requests go to ${existing.baseUrl}. Keep that?`, true)))) {
    return keepIfSame(serviceAt(existing.baseUrl, keyStdin), existing, keyStdin);
  }
  const service = await askService();
  return keepIfSame(service, existing, service.auth !== "none");
}

/**
 * Keeps an existing upstream with the same base URL, because it may contain more than setup would write; but not one that
 * takes no key if there is one for it.
 */
function keepIfSame(service: Service, existing: Upstream | null, hasKey: boolean): Service | null {
  if (existing?.baseUrl !== service.baseUrl) return service;
  return hasKey && existing.auth === "none" ? service : null;
}

function parseOption(text: string, hasKey: boolean): Service {
  const parsed = parseBaseUrl(text);
  if ("problem" in parsed) {
    throw new WrongUsage(
      `--base-url ${parsed.problem}`,
      "for example: tollkeeper setup --base-url https://api.anthropic.com/v1",
    );
  }
  return serviceAt(parsed.baseUrl, hasKey);
}

async function askService(): Promise<Service> {
  const titles = [
    ...KNOWN_SERVICES.map(({ title, baseUrl }) => `${title.padEnd(11)} ${baseUrl}`),
    "A server on this machine, such as Ollama, LM Studio, llama.cpp or vLLM",
    "Another service, such as Azure OpenAI, a unified model API or a gateway",
  ];
  note("Which service do your tools use?");
  for (const [index, title] of titles.entries()) note(`  ${index + 1}  ${title}`);
  for (;;) {
    const number = Number(await ask(`Type a number, 1 to ${titles.length}: `));
    const known = KNOWN_SERVICES[number - 1];
    if (known !== undefined) return known;
    if (number === titles.length - 1) return askLocalBaseUrl();
    if (number === titles.length) return askBaseUrl("Base URL, such as https://api.example.com/v1", null);
  }
}

async function askLocalBaseUrl(): Promise<Service> {
  const { baseUrl, title } = await findLocalBaseUrl();
  if (title !== null) note(`Something listens on the port of ${title}.`);
  return askBaseUrl("Base URL", baseUrl);
}

async function askBaseUrl(question: string, proposed: string | null): Promise<Service> {
  for (;;) {
    const answer = await ask(`${question}${proposed === null ? "" : ` [${proposed}]`}: `);
    const parsed = parseBaseUrl(answer === "" && proposed !== null ? proposed : answer);
    if (!("problem" in parsed)) return askIfKeyless(parsed.baseUrl);
    note(`The base URL ${parsed.problem}`);
  }
}

async function askIfKeyless(baseUrl: string): Promise<Service> {
  return serviceAt(baseUrl, isLocalService(baseUrl) && (await confirm("Does it need an API key?")));
}

async function ask(question: string): Promise<string> {
  const answer = await askLine(question);
  if (answer === null)
    throw new Failure("the input ended before setup was complete", "to continue, type: tollkeeper setup");
  return answer;
}
