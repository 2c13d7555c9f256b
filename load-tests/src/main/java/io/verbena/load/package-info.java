/**
 * What all load runs share: how they refuse a request. The runs themselves stand in the packages below.
 * <p>
 * Must not know any of them.
 */
package io.verbena.load;
