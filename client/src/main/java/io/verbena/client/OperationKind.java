package io.verbena.client;

/** The operations that {@link OperationStatistics} distinguishes. */
public enum OperationKind
{
    /** {@link KvTable#get(byte[])} of a record that was there. */
    GET,
    /** {@link KvTable#get(byte[])} that found nothing. */
    GET_ABSENT,
    /** {@link KvTable#exists(byte[])}. */
    EXISTS,
    /** {@link KvTable#put(byte[], byte[])}. */
    PUT,
    /** {@link KvTable#putIfAbsent(byte[], byte[])}. */
    PUT_IF_ABSENT,
    /** {@link KvTable#replace(byte[], byte[], long)} and {@link KvTable#replace(byte[], byte[])}. */
    REPLACE,
    /** {@link KvTable#append(byte[], byte[])}. */
    APPEND,
    /** {@link KvTable#increment(byte[], long)}. */
    INCREMENT,
    /** Both forms of delete. */
    DELETE,
    /** {@link ExpiringRecords#expire} and {@link ExpiringRecords#persist}. */
    EXPIRE,
    /** One page of {@link KvTable#scan()} or {@link KvTable#stat()}. */
    SCAN
}
