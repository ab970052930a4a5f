import { syncBuiltinESMExports } from "node:module";
import { Duplex } from "node:stream";
import type { TestContext } from "node:test";
import zlib from "node:zlib";
import { withResolvers } from "../async/with-resolvers.ts";

/** The meter's gzip decoders, which finish only when the test says so. */
export interface HeldDecoders {
  /** Resolves when one of them has reached the end of its input. */
  inputEnded: Promise<void>;
  /** Lets all of them finish. */
  release(): void;
}

/** Replaces the gzip decoder by one that passes bytes through unchanged and does not finish until it is released. */
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
