/** What failures have in common at every node: pauses before the next attempt, and what is counted and logged. */
package io.verbena.raas.failure;
