import type { IncomingMessage, ServerResponse } from "node:http";
import { INERT_HEADERS } from "../core/http/header-policy.ts";
import { writeOwnCommands } from "../core/text/own-commands.ts";
import { chooseFormat, CONTENT_TYPES, type TextFormat } from "../core/metrics/prometheus-text.ts";

/** Whose connection a request came on. */
interface Asker {
  /** True if the system says that it is our own user's. */
  readonly isOwn: boolean;
  readonly permission: {
    /** True if the configuration lists the user, as the system identifies it. */
    readonly readsMetrics: boolean;
  };
}

/** Where metrics come from. */
export interface MetricsSource {
  /** False where the configuration has no `export.metrics`. */
  readonly isOn: boolean;
  /** True if a local token is needed for everything, so that to be our own user is not enough. */
  readonly needsToken: boolean;
  /** Rejects while the ledger cannot be read. */
  write(format: TextFormat): Promise<Buffer>;
}

const OFF = `error: metrics are off
hint: to switch them on, type: tollkeeper config set export.metrics '{}'
`;

const NOT_ALLOWED = `error: your user may not read metrics, or the system does not tell who you are
hint: list the uid in "export.metrics.peerUid"; or, as the daemon's user, type: tollkeeper metrics
`;

const FAILED = `error: the ledger cannot be read, so there are no metrics now
hint: to see why, type: tollkeeper doctor
`;

/**
 * Responds to Prometheus. Metrics tell what was spent, so they are for users whom the kernel names: our own, unless local tokens are
 * required, and listed ones. It leaves no record. `configOption` is from `configOptionOf`, for the commands of hints.
 */
export function metricsResponder(source: MetricsSource, configOption: string) {
  const sayWhatToType = (res: ServerResponse, status: number, text: string) =>
    send(
      res,
      status,
      "text/plain; charset=utf-8",
      Buffer.from(writeOwnCommands(text, "tollkeeper", configOption)),
    );
  return (req: IncomingMessage, res: ServerResponse, { isOwn, permission }: Asker): void => {
    const mayRead = permission.readsMetrics || (isOwn && !source.needsToken);
    if (!mayRead) return sayWhatToType(res, 403, NOT_ALLOWED);
    if (!source.isOn) return sayWhatToType(res, 404, OFF);
    const format = chooseFormat(req.headers.accept);
    source.write(format).then(
      (text) => send(res, 200, CONTENT_TYPES[format], text),
      () => sayWhatToType(res, 503, FAILED),
    );
  };
}

function send(res: ServerResponse, status: number, type: string, body: Buffer): void {
  if (res.destroyed) return;
  const headers = {
    "content-type": type,
    "content-length": String(body.length),
    "cache-control": "no-store",
  };
  res.writeHead(status, [...Object.entries(headers).flat(), ...INERT_HEADERS]).end(body);
}
