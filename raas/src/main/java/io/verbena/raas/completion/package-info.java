/** The way back from a completion: which physical queue pair, which batch on it, which virtual queue pair. */
package io.verbena.raas.completion;
