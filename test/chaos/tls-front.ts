import { mkdtempSync, rmSync } from "node:fs";
import { connect, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createServer, type Server, type TLSSocket } from "node:tls";
import { writeCertificate } from "../helpers/upstream/certificate.ts";

/** Puts TLS in front of an upstream. Bytes, ends and resets are passed on. */
export class TlsFront {
  readonly #directory = mkdtempSync(join(tmpdir(), "tollkeeper-chaos-"));
  readonly #certificate = writeCertificate(this.#directory, "IP:127.0.0.1");
  readonly #fronts = new Set<TLSSocket>();
  readonly #server: Server;

  /** @param port the upstream's port */
  constructor(port: number) {
    const { key, cert } = this.#certificate;
    this.#server = createServer({ key, cert }, (front) => this.#pass(front, port));
  }

  /** For NODE_EXTRA_CA_CERTS. */
  get certificateFile(): string {
    return this.#certificate.file;
  }

  /** Listens on a free port. Returns the base URL. */
  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}/v1`;
  }

  close(): void {
    this.#server.close();
    for (const front of this.#fronts) front.destroy();
    rmSync(this.#directory, { recursive: true });
  }

  #pass(front: TLSSocket, port: number): void {
    const back = connect(port, "127.0.0.1");
    this.#fronts.add(front);
    front.on("error", () => {});
    front.on("close", () => {
      this.#fronts.delete(front);
      back.destroy();
    });
    back.on("error", () => front.destroy());
    front.pipe(back);
    back.pipe(front);
  }
}
