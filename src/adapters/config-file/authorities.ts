import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { readTrusted } from "./trusted-file.ts";

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g;

/**
 * Reads the certificates of `outbound.caFile`, each as PEM text, and behind them those of NODE_EXTRA_CA_CERTS: Node stops
 * trusting the latter for connections whose authorities are named (its documentation, `tls.createSecureContext`, `ca`).
 * Throws an Error saying what is wrong with the file.
 */
export async function readAuthorities(caFile: string): Promise<string[]> {
  const { text } = await readTrusted(caFile);
  const certificates = text.match(CERTIFICATE) ?? [];
  if (certificates.length === 0) {
    const convert = `openssl x509 -inform der -in ${caFile} -out ${caFile}.pem`;
    throw new Error(`there is no PEM certificate in it; if it is one in binary form, run \`${convert}\``);
  }
  certificates.forEach((certificate, index) => {
    if (!isCertificate(certificate)) throw new Error(`certificate ${index + 1} in it cannot be read`);
  });
  return [...certificates, ...extraAuthorities()];
}

/** As Node does, which has told of it at its start: a file that cannot be read counts for nothing. */
function extraAuthorities(): string[] {
  const file = process.env["NODE_EXTRA_CA_CERTS"];
  if (file === undefined || file === "") return [];
  try {
    return (readFileSync(file, "utf8").match(CERTIFICATE) ?? []).filter(isCertificate);
  } catch {
    return [];
  }
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}
