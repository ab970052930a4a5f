import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { TestContext } from "node:test";
import { pageFiles } from "../../../src/daemon/dashboard/page-files.ts";
import { assetResponder, pageResponder } from "../../../src/local/dashboard/page.ts";
import { withResolvers } from "../async/with-resolvers.ts";

interface ServedPage {
  url: string;
  /** The live feed, which the test writes, once the page follows it. */
  feed: Promise<ServerResponse>;
}

/** Serves the dashboard's page without a daemon. `readRecords` answers the feed of records, as it does without a ledger by default. */
export async function servePage(
  t: TestContext,
  readRecords: (query: URLSearchParams) => string = () => "",
): Promise<ServedPage> {
  const { promise: feed, resolve } = withResolvers<ServerResponse>();
  const [respondWithPage, respondWithAsset] = [pageResponder("", ""), assetResponder(pageFiles())];
  const server = createServer((req, res) => {
    const { pathname: path, searchParams } = new URL(req.url ?? "", "http://localhost");
    if (path === "/") respondWithPage(req, res);
    else if (path === "/_tollkeeper/v1/session") res.end('{"session":null,"ticket":null,"code":null}');
    else if (path === "/_tollkeeper/v1/live") resolve(res.writeHead(200));
    else if (path === "/_tollkeeper/v1/records") res.end(readRecords(searchParams));
    else if (path.startsWith("/_tollkeeper/dashboard/")) respondWithAsset(req, res, null, { path });
    else res.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, feed };
}
