import { DAEMON_PROBLEMS } from "./problems/daemon.ts";
import { KEY_PROBLEMS } from "./problems/keys.ts";
import { testProblems } from "./problems/test-problems.ts";

testProblems([...KEY_PROBLEMS, ...DAEMON_PROBLEMS]);
