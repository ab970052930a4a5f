import { syncBuiltinESMExports } from "node:module";
import { Duplex } from "node:stream";
import type { TestContext } from "node:test";
import zlib from "node:zlib";
import { withResolvers } from "../async/with-resolvers.ts";

/** The meter's decoders of gzip, at a stand. */
export interface HeldDecoders {
  /** Resolves when one has been told that its input is over. */
  held: Promise<void>;
  /** Lets all of them end. */
  letGo(): void;
}

/** Puts a decoder in gzip's place that hands bytes on as they are, and does not end until it is let go. */
export function holdDecoders(t: TestContext): HeldDecoders {
  const { promise: held, resolve: isHeld } = withResolvers<void>();
  const { promise: freedom, resolve: letGo } = withResolvers<void>();
  const createHeld = () =>
    Duplex.from(async function* (bytes: AsyncIterable<Buffer>) {
      yield* bytes;
      isHeld();
      await freedom;
    });
  const mocked = t.mock.method(zlib, "createGunzip", createHeld as unknown as typeof zlib.createGunzip);
  syncBuiltinESMExports();
  t.after(() => {
    mocked.mock.restore();
    syncBuiltinESMExports();
  });
  return { held, letGo };
}
