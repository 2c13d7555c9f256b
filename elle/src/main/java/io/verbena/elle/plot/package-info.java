/**
 * Images of figures. Knows nothing of what is drawn.
 */
package io.verbena.elle.plot;
