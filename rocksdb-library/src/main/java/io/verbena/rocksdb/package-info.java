/** The native library of the embedded database, loaded so that no process leaves it behind. */
package io.verbena.rocksdb;
