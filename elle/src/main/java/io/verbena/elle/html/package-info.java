/**
 * Draws verdicts: one self-contained HTML file per check.
 *
 * <p>Owns the pages, their style and scripts. It must not check anything itself, load anything from outside the file,
 * or trust a value of a history not to be markup.
 */
package io.verbena.elle.html;
