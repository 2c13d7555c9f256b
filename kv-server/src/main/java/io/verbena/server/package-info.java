/**
 * The roles of a cluster as processes: what each is made of, its duty cycle, health, and orderly end. Must not know
 * what nodes say to each other, nor how settings reach it.
 */
package io.verbena.server;
