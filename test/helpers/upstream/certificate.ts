import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { createServer } from "node:https";
import { join } from "node:path";
import type { TestContext } from "node:test";
import { scratchDirectory } from "../process/scratch-directory.ts";
import { listenOnLoopback } from "./loopback-port.ts";

/** A self-signed certificate and its private key. */
export interface Certificate {
  /** The certificate's file, for NODE_EXTRA_CA_CERTS. */
  file: string;
  key: Buffer;
  cert: Buffer;
}

/** Creates a certificate for `name`, in X.509 notation: `DNS:localhost`, `IP:127.0.0.1`. */
export function makeCertificate(t: TestContext, name: string): Certificate {
  return writeCertificate(scratchDirectory(t), name);
}

/** Like {@link makeCertificate}, but writes the files to the given directory. */
export function writeCertificate(directory: string, name: string): Certificate {
  const [keyFile, file] = [join(directory, "key.pem"), join(directory, "cert.pem")];
  const command = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=test";
  // Rust's programs take no certificate of an authority for a server's.
  const names = ["-addext", `subjectAltName=${name}`, "-addext", "basicConstraints=critical,CA:FALSE"];
  const rest = [...names, "-keyout", keyFile, "-out", file];
  execFileSync("openssl", [...command.split(" "), ...rest], { stdio: "ignore" });
  return { file, key: readFileSync(keyFile), cert: readFileSync(file) };
}

/** Starts an https upstream that responds to everything with `{}` and keeps the credentials it receives. */
export async function startTlsUpstream(t: TestContext, { key, cert }: Certificate) {
  const credentials: string[] = [];
  const server = createServer({ key, cert }, (req, res) => {
    credentials.push(`${req.headers.authorization ?? ""}${String(req.headers["x-api-key"] ?? "")}`);
    req.resume().on("end", () => res.end("{}"));
  });
  const port = await listenOnLoopback(server);
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { baseUrl: `https://127.0.0.1:${port}/v1`, credentials };
}
