import { syncBuiltinESMExports } from "node:module";
import { Duplex } from "node:stream";
import type { TestContext } from "node:test";
import zlib from "node:zlib";
import { withResolvers } from "../async/with-resolvers.ts";

/** The meter's decoders of gzip, at a stand. */
export interface HeldDecoders {
  /** Resolves when one has been told that its input is over. */
  inputEnded: Promise<void>;
  /** Lets all of them end. */
  release(): void;
}

/** Puts a decoder in gzip's place that hands bytes on as they are, and does not end until it is let go. */
export function holdDecoders(t: TestContext): HeldDecoders {
  const { promise: inputEnded, resolve: onInputEnd } = withResolvers<void>();
  const { promise: released, resolve: release } = withResolvers<void>();
  const createHeld = () =>
    Duplex.from(async function* (bytes: AsyncIterable<Buffer>) {
      yield* bytes;
      onInputEnd();
      await released;
    });
  const mocked = t.mock.method(zlib, "createGunzip", createHeld as unknown as typeof zlib.createGunzip);
  syncBuiltinESMExports();
  t.after(() => {
    mocked.mock.restore();
    syncBuiltinESMExports();
  });
  return { inputEnded, release };
}
