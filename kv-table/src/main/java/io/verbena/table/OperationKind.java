package io.verbena.table;

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
    /** How many kinds there are. */
    public static final int COUNT = 7;

    private static final String[] NAMES =
        {"get", "exists", "put", "put_if_absent", "replace", "delete", "delete_version"};

    private OperationKind()
    {
    }

    /** @return name in statistics. */
    public static String name(final int kind)
    {
        return NAMES[kind];
    }

    /** @return whether the kind needs a value, and so a block. */
    static boolean storesValue(final int kind)
    {
        return kind == PUT || kind == PUT_IF_ABSENT || kind == REPLACE;
    }

    /** @return whether the kind may create a key. */
    static boolean inserts(final int kind)
    {
        return kind == PUT || kind == PUT_IF_ABSENT;
    }

    /** @return whether the kind compares versions. */
    static boolean isByVersion(final int kind)
    {
        return kind == REPLACE || kind == DELETE_VERSION;
    }
}
