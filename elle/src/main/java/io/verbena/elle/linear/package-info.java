/**
 * Linearizability: models of sequential objects, and the search for an order of a history's operations that such an
 * object could have gone through.
 *
 * <p>The search is that of Wing and Gong (1993) with Lowe's memoisation (2017), applied to each object alone
 * (P-compositionality: Herlihy and Wing 1990; Horn and Kroening 2015). This package must not know where a history comes
 * from, how it is drawn, or anything of transactions.
 */
package io.verbena.elle.linear;
