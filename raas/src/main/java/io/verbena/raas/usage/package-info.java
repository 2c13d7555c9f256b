/**
 * What a context and its tenants have done so far and use now. Must not know how they do it.
 */
package io.verbena.raas.usage;
