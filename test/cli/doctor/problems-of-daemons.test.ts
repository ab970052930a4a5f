import { DAEMON_PROBLEMS } from "./problems/daemon.ts";
import { testProblems } from "./problems/test-problems.ts";

testProblems(DAEMON_PROBLEMS);
