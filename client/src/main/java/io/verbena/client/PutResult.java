package io.verbena.client;

/**
 * What {@link KvTable#putIfAbsent(byte[], byte[])} did.
 *
 * @param stored  true if this call stored its value, false if there was a record already.
 * @param version of the record this call stored, else of the one that was there.
 */
public record PutResult(boolean stored, long version)
{
}
