package io.verbena.rdma.soft.shared;

/**
 * Layout of an entry of the key table: a region or a bound memory window, at the index that is the key's upper half.
 * Windows have keys with the highest bit set, so the upper half of the table is theirs.
 *
 * <pre>
 *  0     4        8        12            16        24       32     40                48        56        64
 * +-----+--------+--------+-------------+---------+--------+------+-----------------+---------+---------+
 * | key | rights | domain | queue pair  | address | length | file | offset in file  | binding | (0)     |
 * +-----+--------+--------+-------------+---------+--------+------+-----------------+---------+---------+
 * </pre>
 *
 * <p>Written by the owner, and the key of a window set to 0 by the peer whose SEND_WITH_INV takes it away. The key is
 * written last (release) and set to 0 first (volatile): who finds it may use the rest until it leaves (see
 * {@link AccessMark}). A window may be bound under a key again that it had before, and by another queue pair, whose
 * peer alone its invalidation waits for: the binding number, written before the rest and read on both sides of it,
 * distinguishes one binding from another.
 */
public final class KeyEntryDescriptor
{
    public static final int KEY_OFFSET = 0;
    public static final int RIGHTS_OFFSET = KEY_OFFSET + Integer.BYTES;
    public static final int DOMAIN_OFFSET = RIGHTS_OFFSET + Integer.BYTES;
    /** Window: number of the queue pair it is bound to. Region: 0. */
    public static final int QUEUE_PAIR_OFFSET = DOMAIN_OFFSET + Integer.BYTES;
    public static final int ADDRESS_OFFSET = QUEUE_PAIR_OFFSET + Integer.BYTES;
    public static final int LENGTH_OFFSET = ADDRESS_OFFSET + Long.BYTES;
    /** N of the file {@code OWNER.N.region}. */
    public static final int FILE_OFFSET = LENGTH_OFFSET + Long.BYTES;
    /** Where in the file {@link #ADDRESS_OFFSET} lies. */
    public static final int FILE_POSITION_OFFSET = FILE_OFFSET + Long.BYTES;
    /** Window: counts its bindings. Region: 0. */
    public static final int BINDING_OFFSET = FILE_POSITION_OFFSET + Long.BYTES;
    public static final int LENGTH = 64;

    private KeyEntryDescriptor()
    {
    }
}
