import { parseBaseUrl } from "../../core/config/base-url.ts";
import type { Upstream } from "../../core/config/config.ts";
import { sanitizeText } from "../../core/config/problem.ts";
import { Failure } from "../../core/failure.ts";
import { probableKey } from "../../core/secrets/api-key.ts";
import type { Secret } from "../../core/secrets/secret.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { askLine } from "../terminal/ask.ts";
import { askYesNo, confirm, TYPE_Y_OR_N } from "../terminal/confirm.ts";
import { note } from "../terminal/console.ts";
import { WrongUsage } from "../wrong-usage.ts";
import { askBedrock, askBedrockCredential } from "./ask-bedrock.ts";
import type { SetupOptions } from "./options.ts";
import {
  findLocalBaseUrl,
  isBedrock,
  isLocalService,
  KNOWN_SERVICES,
  serviceAt,
  type Service,
} from "./services.ts";

/** The service to use, and the key for it if that was pasted on the way. */
interface ChosenService {
  /** null to keep the existing one as it is. */
  service: Service | null;
  key: Secret | null;
}

/**
 * Finds out which service to use: from `--base-url`, from the configuration, or by asking.
 * @param existing the default upstream of the configuration; null without one
 */
export async function chooseService(
  { baseUrl, keyStdin, yes }: SetupOptions,
  existing: Upstream | null,
): Promise<ChosenService> {
  const keep = (service: Service, hasKey: boolean, key: Secret | null = null) => {
    return { service: keepIfSame(service, existing, hasKey), key };
  };
  if (baseUrl !== undefined) {
    const service = parseOption(baseUrl, keyStdin);
    const isAsked = isBedrock(service) && !yes && !keyStdin && existing?.baseUrl !== service.baseUrl;
    if (!isAsked) return keep(service, keyStdin);
    const { key, ...asked } = await askBedrockCredential(service.baseUrl);
    return keep(asked, true, key);
  }
  if (existing !== null && (yes || (await confirm(`Requests go to ${existing.baseUrl}. Keep that?`, true))))
    return keep(serviceAt(existing.baseUrl, keyStdin), keyStdin);
  const { key, ...service } = await askService();
  return keep(service, service.auth !== "none", key);
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
      parsed.meant === null
        ? "for example: tollkeeper setup --base-url https://api.anthropic.com/v1"
        : `type in its place: --base-url ${formatCommand([parsed.meant])}`,
    );
  }
  return serviceAt(parsed.baseUrl, hasKey);
}

type AskedService = Service & { key: Secret | null };

const BEDROCK_TITLE = "Amazon Bedrock, in a region of AWS";
const LOCAL_TITLE = "A server on this machine, such as Ollama, LM Studio, llama.cpp or vLLM";
const OTHER_TITLE = "Another service, such as Azure OpenAI, a unified model API or a gateway";

/** Those that have no base URL for everyone. */
const ASKED_FURTHER = [BEDROCK_TITLE, LOCAL_TITLE, OTHER_TITLE];

async function askService(): Promise<AskedService> {
  const titles = [
    ...KNOWN_SERVICES.map(({ title, baseUrl }) => `${title.padEnd(11)} ${baseUrl}`),
    ...ASKED_FURTHER,
  ];
  note("Which service do your tools use?");
  for (const [index, title] of titles.entries()) note(`  ${index + 1}  ${title}`);
  for (;;) {
    const answer = await ask(`Type a number, 1 to ${titles.length}, a name or a base URL: `);
    const number = /^\d+$/.test(answer) ? Number(answer) : findByName(answer);
    const known = KNOWN_SERVICES[number - 1];
    if (known !== undefined) return { ...known, key: null };
    if (number === titles.length - 2) return askBedrock();
    if (number === titles.length - 1) return askLocalBaseUrl(answer);
    if (number === titles.length) return askBaseUrl("Base URL, such as https://api.example.com/v1", null);
    const typed = parseBaseUrl(answer);
    if (!("problem" in typed)) return askIfKeyless(typed.baseUrl);
    if (probableKey(answer) !== null) note(KEY_LATER);
    else if (ADDRESS.test(answer)) note(`The base URL ${typed.problem}`);
    else if (answer !== "") note(`"${sanitizeText(answer)}" is none of these.`);
  }
}

const KEY_LATER =
  "That looks like an API key, so it is not shown. Answer this question first; then you are asked for the key.";

/** What was meant as a base URL. */
const ADDRESS = /:\/\/|^localhost\b|^[\w-]+\.[\w.-]+(?:[:/]|$)/;

/** Returns the number of the service whose title has a word that begins as the answer does; 0 when it is none, or several. */
function findByName(answer: string): number {
  const name = answer.toLowerCase();
  const titles = [...KNOWN_SERVICES.map(({ title }) => title), ...ASKED_FURTHER];
  const isMeant = (title: string) => ` ${title.toLowerCase()}`.includes(` ${name}`);
  const found = titles.flatMap((title, index) =>
    title.toLowerCase() === name || (name.length > 2 && isMeant(title)) ? [index + 1] : [],
  );
  return found.length === 1 ? (found[0] ?? 0) : 0;
}

/** @param answer may name one of the servers */
async function askLocalBaseUrl(answer: string): Promise<AskedService> {
  const { baseUrl, title } = await findLocalBaseUrl(answer);
  if (title !== null) note(`Something listens on the port of ${title}.`);
  return askBaseUrl("Base URL", baseUrl);
}

async function askBaseUrl(question: string, proposed: string | null): Promise<AskedService> {
  for (;;) {
    const answer = await ask(`${question}${proposed === null ? "" : ` [${proposed}]`}: `);
    const parsed = parseBaseUrl(answer === "" && proposed !== null ? proposed : answer);
    if (!("problem" in parsed)) return askIfKeyless(parsed.baseUrl);
    note(probableKey(answer) === null ? `The base URL ${parsed.problem}` : KEY_LATER);
  }
}

/** Many people paste the key where they are asked whether there is one. */
async function askIfKeyless(baseUrl: string): Promise<AskedService> {
  if (isBedrock({ baseUrl })) return askBedrockCredential(baseUrl);
  if (!isLocalService(baseUrl)) return { ...serviceAt(baseUrl, false), key: null };
  for (;;) {
    const answer = await askYesNo("Does it need an API key?");
    if (typeof answer === "boolean") return { ...serviceAt(baseUrl, answer), key: null };
    const key = probableKey(answer);
    if (key !== null) return { ...serviceAt(baseUrl, true), key };
    note(TYPE_Y_OR_N);
  }
}

async function ask(question: string): Promise<string> {
  const answer = await askLine(question);
  if (answer === null)
    throw new Failure("the input ended before setup was complete", "to continue, type: tollkeeper setup");
  return answer;
}
