/** What clients of Redis do against a compute node. */
package io.verbena.dev.redis;
