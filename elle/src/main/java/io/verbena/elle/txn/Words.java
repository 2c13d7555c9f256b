package io.verbena.elle.txn;

import io.verbena.elle.history.EdnValue;

/** How reports speak of keys, values and transactions. */
final class Words
{
    /** Long lists are shown with their last elements only. */
    private static final int MAX_LENGTH = 60;

    private Words()
    {
    }

    static String txn(final int txn)
    {
        return "T" + txn;
    }

    static String value(final Object value)
    {
        final String text = EdnValue.toText(value);
        return text.length() <= MAX_LENGTH ? text :
            text.substring(0, MAX_LENGTH / 2) + " ... " + text.substring(text.length() - MAX_LENGTH / 2);
    }
}
