// The code of a process of the served SQLite store: its reads, and the rules that make the page of a search of them. scripts/build.js
// builds a file of its own from it.
import { storeRules } from '../local/local-store-rules.ts';
import { answerOrders } from '../store/sqlite/store-worker.ts';

answerOrders(storeRules);
