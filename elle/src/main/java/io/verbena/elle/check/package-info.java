/**
 * The entrance for programs and tests: {@link io.verbena.elle.check.Elle}. Owns no logic of its own; it alone may know
 * both the checkers and the histories.
 */
package io.verbena.elle.check;
