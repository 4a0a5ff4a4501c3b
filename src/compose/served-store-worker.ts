// The code of a thread of the served SQLite store: its reads, and the rule that makes the page of a search of them. scripts/build.js builds
// a file of its own from it.
import { searchPage } from '../local/search-page.ts';
import { answerOrders } from '../store/sqlite/store-worker.ts';

answerOrders(searchPage);
