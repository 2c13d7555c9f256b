package io.verbena.elle.history;

/**
 * What an event says about its operation; the words are those of Jepsen's histories.
 */
public enum EventType
{
    /** The process called; nothing can have happened before this event. */
    INVOKE("invoke"),
    /** The operation happened, between its call and this event. */
    OK("ok"),
    /** The operation certainly did not happen, and never will. */
    FAIL("fail"),
    /** Nobody knows: the operation may take effect at any time after its call, also after this event, or never. */
    INFO("info");

    private final String word;

    EventType(final String word)
    {
        this.word = word;
    }

    /**
     * The word in EDN (as a keyword) and JSON (as a string).
     *
     * @return lower case, without colon.
     */
    public String word()
    {
        return word;
    }

    /**
     * Finds a type by its word.
     *
     * @param word as {@link #word()} gives it.
     * @return the type, or null if there is none of that name.
     */
    public static EventType ofWord(final String word)
    {
        for (final EventType type : values())
        {
            if (type.word.equals(word))
            {
                return type;
            }
        }
        return null;
    }
}
