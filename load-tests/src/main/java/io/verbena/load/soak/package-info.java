/**
 * The soak: a table filled to the brim and overwritten many times, then checked to the last byte. Owns load and
 * verdict; must not know how memory is managed.
 */
package io.verbena.load.soak;
