import { CONFIGURATION_PROBLEMS } from "./problems/configuration.ts";
import { FILE_PROBLEMS } from "./problems/files.ts";
import { testProblems } from "./problems/test-problems.ts";

testProblems([...CONFIGURATION_PROBLEMS, ...FILE_PROBLEMS]);
