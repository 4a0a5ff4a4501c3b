// A process of the served store of SQLite, put together: its reads, and the rules that make the page of a search of them. scripts/build.js
// makes a file of its own of it.
import { storeRules } from '../local/store-rules.ts';
import { answerOrders } from '../store/sqlite/store-worker.ts';

answerOrders(storeRules);
