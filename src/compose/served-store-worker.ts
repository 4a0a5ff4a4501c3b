// The program of a process that reads from a served SQLite store, with the rules of searches. scripts/build.js builds it into a separate file.
import { searchRules } from '../local/search-rules.ts';
import { answerOrders } from '../store/sqlite/store-worker.ts';

answerOrders(searchRules);
