// F5, other users of the machine and the dashboard: feeds are for our own user, whoever else may use the proxy.
import assert from "node:assert/strict";
import { test } from "node:test";
import { startDaemon } from "../helpers/daemon/daemon.ts";
import { FEEDS, openSession, startFeeds } from "../helpers/gate/feeds.ts";
import { curlAs, NOBODY, noOtherUser } from "../helpers/process/other-user.ts";

test("another user, also one whom peerUid admits, gets no feed, not even with an approved session", async (t) => {
  const stranger = await startFeeds(t, { uid: 12_345 });
  const approve = ({ sessions }: typeof stranger) => ({ "x-tollkeeper-session": openSession(sessions) });
  assert.equal((await stranger.ask("status", approve(stranger))).status, 400);
  const admitted = await startFeeds(t, { uid: 12_345, peerUid: [12_345] });
  for (const name of ["status", "session", "live"]) {
    assert.equal((await admitted.ask(name)).status, 401, name);
    assert.equal((await admitted.ask(name, approve(admitted))).status, 401, name);
  }
});

test(
  "another user whom peerUid admits uses the proxy, and reads no feed",
  { skip: noOtherUser },
  async (t) => {
    const daemon = await startDaemon(t, { config: { access: { mode: "open", peerUid: [NOBODY] } } });
    assert.equal((await curlAs(NOBODY, `${daemon.url}/v1/models`)).status, 200);
    for (const feed of ["status", "usage", "limits", "records", "running", "live"]) {
      const { status, body } = await curlAs(NOBODY, `${daemon.url}${FEEDS}/${feed}`);
      assert.equal(status, 401, feed);
      assert.doesNotMatch(body, /tollkeeper serve|listening/);
    }
  },
);
