import type { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { Failure } from "../../core/failure.ts";
import { formatCommand } from "../../core/text/shell-words.ts";
import { refuseExposed } from "../trust/exposure.ts";
import { readTrustedFile } from "../trust/trusted-file.ts";

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^]*?-----END CERTIFICATE-----/g;

/**
 * Returns the certificates of `outbound.caFile`, each as PEM text, followed by those of NODE_EXTRA_CA_CERTS, which Node
 * ignores for connections with a `ca` option (Node documentation, `tls.createSecureContext`). Throws an Error that says
 * what is wrong with the file.
 * @param extraFile what NODE_EXTRA_CA_CERTS says; empty for nothing
 */
export async function readAuthorities(
  caFile: string,
  extraFile = process.env["NODE_EXTRA_CA_CERTS"],
): Promise<string[]> {
  const { text } = await readTrustedFile(caFile);
  // Few configurations name a file, and this takes 5 ms to load.
  const { X509Certificate: Certificate } = await import("node:crypto");
  const certificates = text.match(CERTIFICATE) ?? [];
  if (certificates.length === 0) {
    const pem = `${caFile}.pem`;
    const convert = formatCommand(["openssl", "x509", "-inform", "der", "-in", caFile, "-out", pem]);
    throw new Failure(
      "it contains no PEM certificate",
      `if it is a certificate in binary form, convert it with: ${convert}; then name ${pem} with: tollkeeper config edit`,
    );
  }
  certificates.forEach((certificate, index) => {
    if (!isCertificate(certificate, Certificate))
      throw new Error(`certificate ${index + 1} in it cannot be parsed`);
  });
  return [...certificates, ...(await extraAuthorities(extraFile, Certificate))];
}

/** Ignores a file that cannot be read, as Node does; Node has printed a warning at its start. Rejects for one that others may change. */
async function extraAuthorities(
  file: string | undefined,
  Certificate: typeof X509Certificate,
): Promise<string[]> {
  if (file === undefined || file === "") return [];
  await refuseExposed(file, `${file}, which NODE_EXTRA_CA_CERTS names,`);
  try {
    return (readFileSync(file, "utf8").match(CERTIFICATE) ?? []).filter((pem) =>
      isCertificate(pem, Certificate),
    );
  } catch {
    return [];
  }
}

function isCertificate(pem: string, Certificate: typeof X509Certificate): boolean {
  try {
    return new Certificate(pem).raw.length > 0;
  } catch {
    return false;
  }
}
