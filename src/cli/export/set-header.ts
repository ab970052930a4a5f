import { createKeychain } from "../../adapters/keychain.ts";
import { sanitizeText } from "../../core/config/problem.ts";
import { Failure } from "../../core/failure.ts";
import { listSecretHeaders } from "../../core/export/header-secrets.ts";
import { describeKeySource, type KeyRef } from "../../core/secrets/key-source.ts";
import { hardenProcess } from "../../daemon/harden.ts";
import { readKey } from "../keys/read-key.ts";
import { notifyOfChange } from "../keys/notify-of-change.ts";
import { loadConfig } from "../load-config.ts";
import { note, print } from "../terminal/console.ts";
import { requireOtlp } from "./open-exporter.ts";

/** Arguments of `tollkeeper export header`. */
export interface HeaderArguments {
  config?: string | undefined;
  name: string;
  remove: boolean;
}

/** Stores the secret of a header in the keychain for the collector's origin alone, or removes it. */
export async function setHeader({ config, name, remove }: HeaderArguments): Promise<void> {
  for (const warning of hardenProcess()) note(`warning: ${warning}`);
  const ref = findHeader(requireOtlp(await loadConfig(config)), name);
  const what = `secret of the header ${name} for ${ref.origin}`;
  if (remove) {
    const isRemoved = await createKeychain().remove(ref);
    print(isRemoved ? `Removed the ${what}.` : `There is no ${what} in the keychain.`);
    if (!isRemoved) return;
  } else {
    await createKeychain().write(ref, await readKey(what, ref, true));
    print(`Stored the ${what}.`);
  }
  await notifyOfChange();
}

function findHeader(otlp: Parameters<typeof listSecretHeaders>[0], name: string): KeyRef {
  const headers = listSecretHeaders(otlp);
  const ref = headers.find((header) => header.name === name)?.ref;
  if (ref?.source.kind === "keychain") return ref;
  if (ref !== undefined)
    throw new Failure(
      `the secret of the header ${name} is not in the keychain, but in: ${describeKeySource(ref.source)}`,
      'change it there; or, to use the keychain, remove "keySource" with: tollkeeper config edit',
    );
  const known = headers.map((header) => header.name).join(", ");
  throw new Failure(
    `export.otlp.headers has no header "${sanitizeText(name)}" with a secret`,
    known === ""
      ? `add it with: tollkeeper config set export.otlp.headers.${sanitizeText(name)} {}`
      : `the headers with a secret are: ${known}`,
  );
}
