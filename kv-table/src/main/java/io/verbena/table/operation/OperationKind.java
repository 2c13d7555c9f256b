package io.verbena.table.operation;

/** What an operation does; small integers, so that statistics can be arrays. */
public final class OperationKind
{
    /** Reads the value. */
    public static final int GET = 0;
    /** As GET, without the value. */
    public static final int EXISTS = 1;
    /** Stores, whether the key is there or not. */
    public static final int PUT = 2;
    /** Stores only if the key is absent. */
    public static final int PUT_IF_ABSENT = 3;
    /** Stores only over an expected version. */
    public static final int REPLACE = 4;
    /** Removes. */
    public static final int DELETE = 5;
    /** Removes only an expected version. */
    public static final int DELETE_VERSION = 6;
    /**
     * Adds to a counter: a value of decimal digits, or of 8 bytes, see
     * {@link io.verbena.table.format.CounterValue}. An absent key counts as 0.
     */
    public static final int INCREMENT = 7;
    /** Puts bytes behind the value there is; stores them alone if the key is absent. */
    public static final int APPEND = 8;
    /** Stores only if the key is there, whatever its version. */
    public static final int PUT_IF_PRESENT = 9;
    /** Gives a record that is there another deadline, or none, and changes nothing else of it but the version. */
    public static final int EXPIRE = 10;
    /** How many kinds there are. */
    public static final int COUNT = 11;

    private static final String[] NAMES = {
        "get", "exists", "put", "put_if_absent", "replace", "delete", "delete_version", "increment", "append",
        "put_if_present", "expire" };

    private OperationKind()
    {
    }

    /** @return name in statistics. */
    public static String name(final int kind)
    {
        return NAMES[kind];
    }

    /** @return whether the caller gives a value. */
    public static boolean takesValue(final int kind)
    {
        return kind == PUT || kind == PUT_IF_ABSENT || kind == REPLACE || kind == APPEND || kind == PUT_IF_PRESENT;
    }

    /** @return whether the kind may change what is there. */
    static boolean writes(final int kind)
    {
        return kind != GET && kind != EXISTS;
    }

    /** @return whether the kind stores a value, and so needs a block. */
    public static boolean storesValue(final int kind)
    {
        return takesValue(kind) || kind == INCREMENT || kind == EXPIRE;
    }

    /** @return whether the value stored depends on the one that is there. */
    static boolean computesValue(final int kind)
    {
        return kind == INCREMENT || kind == APPEND || kind == EXPIRE;
    }

    /** @return whether the value of the one that is there, and so its length, goes into the new block. */
    static boolean takesOldValue(final int kind)
    {
        return kind == APPEND || kind == EXPIRE;
    }

    /** @return whether the caller may say which deadline the record gets; other kinds keep the one there is. */
    public static boolean takesExpiry(final int kind)
    {
        return kind == PUT || kind == PUT_IF_ABSENT || kind == PUT_IF_PRESENT || kind == REPLACE || kind == EXPIRE;
    }

    /** @return whether the kind changes nothing. */
    public static boolean isRead(final int kind)
    {
        return kind == GET || kind == EXISTS;
    }

    /** @return whether the kind may create a key. */
    static boolean inserts(final int kind)
    {
        return kind == PUT || kind == PUT_IF_ABSENT || kind == INCREMENT || kind == APPEND;
    }

    /** @return whether the kind compares versions. */
    static boolean isByVersion(final int kind)
    {
        return kind == REPLACE || kind == DELETE_VERSION;
    }
}
