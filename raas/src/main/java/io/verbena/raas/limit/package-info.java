/** Limits of a context: how much of each is used, and what is thrown where one is reached. */
package io.verbena.raas.limit;
