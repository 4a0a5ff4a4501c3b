// The program of a process of the served SQLite store: the store's reads with the rules of a search. scripts/build.js builds it into a file
// of its own.
import { searchRules } from '../local/search-rules.ts';
import { answerOrders } from '../store/sqlite/store-worker.ts';

answerOrders(searchRules);
