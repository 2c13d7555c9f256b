package io.verbena.protocol.message;

/**
 * What a member of a group made of a {@link MirrorAction}.
 *
 * @param outcome what came of it.
 * @param index   of the first free chunk from the index asked for on, or -1 when none is free there.
 * @param count   largest count that the member knows of the chunk: of leases by groups, recorded or refused.
 */
public record MirrorAnswer(Outcome outcome, int index, long count)
{
    /** The codes are part of the message format. */
    public enum Outcome
    {
        /** Done, now or by an earlier call: recorded, refused for good, returned, claimed, adopted, or chosen. */
        DONE(1),
        /** The chunk is in use by another lease, or another node; or no chunk is free. */
        TAKEN(2),
        /** The lease has a count that is not larger than one of before: it will never be recorded here. */
        OUTDATED(3),
        /** The lease is recorded here, so that it cannot be refused. */
        RECORDED(4),
        /** The lease is not recorded here. */
        ABSENT(5);

        private static final Outcome[] BY_CODE = {null, DONE, TAKEN, OUTDATED, RECORDED, ABSENT};

        private final int code;

        Outcome(final int code)
        {
            this.code = code;
        }

        /** @return number in messages. */
        public int code()
        {
            return code;
        }

        /** @return the outcome with a number in a message, or null when there is none. */
        public static Outcome ofCode(final int code)
        {
            return code > 0 && code < BY_CODE.length ? BY_CODE[code] : null;
        }
    }
}
