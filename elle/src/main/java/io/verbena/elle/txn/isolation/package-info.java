/** The definitions: kinds of dependencies, anomalies, consistency models, and what rules out what. */
package io.verbena.elle.txn.isolation;
