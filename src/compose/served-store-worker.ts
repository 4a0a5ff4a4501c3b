// The program of a process of the served SQLite store: the store's reads with the rules of a search. scripts/build.js builds it into a file
// of its own.
import { storeRules } from '../local/local-store-rules.ts';
import { answerOrders } from '../store/sqlite/store-worker.ts';

answerOrders(storeRules);
