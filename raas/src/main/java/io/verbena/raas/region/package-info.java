/** Local regions as the checks before posting know them: made from this context, and still open. */
package io.verbena.raas.region;
