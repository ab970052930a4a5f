import assert from "node:assert/strict";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import { makeCertificate } from "../../helpers/upstream/certificate.ts";
import { REPLAYED_KINDS } from "./replayed-sessions.ts";
import { AT_ONCE, createService, TURNS } from "./session-service.ts";

for (const kind of REPLAYED_KINDS)
  test(`a replayed session ${kind.name} asks the service for ${TURNS} responses and for nothing else`, async (t) => {
    const certificate = makeCertificate(t, "IP:127.0.0.1");
    const { server, takeAnswered } = createService(certificate, AT_ONCE);
    t.after(() => void server.close());
    await once(server.listen(0, "127.0.0.1"), "listening");
    const run = await kind.open(t, certificate);
    await run(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
    assert.deepEqual(takeAnswered(), { responses: TURNS, warmups: kind.warmups, unknown: [] });
  });
