package io.verbena.resp.command;

import io.verbena.protocol.request.CountPage;
import io.verbena.protocol.request.RecordPage;
import io.verbena.protocol.request.RequestKind;
import io.verbena.resp.codec.RespDecoder;
import io.verbena.resp.codec.RespWriter;
import io.verbena.resp.session.Session;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/** Commands on a table as a whole; each of them walks over it, and none is atomic. Stateless. */
final class TableCommands
{
    private static final int DEFAULT_COUNT = 10;
    /** Records that DBSIZE reads; where there are more, it counts also those that a sweep has yet to take away. */
    private static final int MOST_READ = 10_000;
    private static final long MIX = 0x9E3779B97F4A7C15L;
    private static final Pattern CURSOR = Pattern.compile("[+-]?\\d{1,40}");
    private static final long NO_CURSOR = -1;
    private static final long BEHIND_ALL = -2;
    private static final String BAD_CURSOR = "ERR invalid cursor";

    /** One step of a client's walk. */
    private static final class Scan extends ScanTask
    {
        private final GlobPattern pattern;
        private final boolean isOtherType;
        private final long count;
        private final RespWriter keys;
        private int found;
        private long behind;

        Scan(final Session session, final long cursor, final GlobPattern pattern, final long count,
            final boolean isOtherType)
        {
            super(session, RequestKind.SCAN, cursor);
            this.pattern = pattern;
            this.count = count;
            this.isOtherType = isOtherType;
            keys = session.spareWriter();
        }

        @Override
        protected boolean take(final Session session, final byte[] page, final long next)
        {
            behind = next;
            long met = 0;
            for (int at = 0; at < page.length;)
            {
                final int keyLength = RecordPage.keyLength(page, at);
                if (!isOtherType && (null == pattern ||
                    pattern.matches(page, at + RecordPage.KEY_OFFSET, keyLength)))
                {
                    keys.bulk(page, at + RecordPage.KEY_OFFSET, keyLength);
                    found++;
                }
                final long behindThis = RecordPage.behind(page, at);
                at += RecordPage.KEY_OFFSET + keyLength + RecordPage.valueLength(page, at);
                if (++met == count && at < page.length)
                {
                    behind = behindThis;
                    break;
                }
            }
            return false;
        }

        @Override
        protected void reply(final Session session)
        {
            final RespWriter writer = session.writer();
            writer.array(2);
            writer.bulk(RecordPage.END == behind ? "0" : Long.toString(behind));
            writer.array(found);
            writer.append(keys);
            keys.close();
        }

        @Override
        public void onClosed(final Session session)
        {
            keys.close();
        }
    }

    /** All keys of a pattern. */
    private static final class Keys extends ScanTask
    {
        private final GlobPattern pattern;
        private final RespWriter keys;
        private int found;

        Keys(final Session session, final GlobPattern pattern)
        {
            super(session, RequestKind.SCAN, 0);
            this.pattern = pattern;
            keys = session.spareWriter();
        }

        @Override
        protected boolean take(final Session session, final byte[] page, final long next)
        {
            for (int at = 0; at < page.length;)
            {
                final int keyLength = RecordPage.keyLength(page, at);
                if (pattern.matches(page, at + RecordPage.KEY_OFFSET, keyLength))
                {
                    keys.bulk(page, at + RecordPage.KEY_OFFSET, keyLength);
                    found++;
                }
                at += RecordPage.KEY_OFFSET + keyLength + RecordPage.valueLength(page, at);
            }
            return !keys.isOverflown();
        }

        @Override
        protected void reply(final Session session)
        {
            if (keys.isOverflown())
            {
                session.writer().error("ERR the keys are more than this node replies at once: use SCAN");
            }
            else
            {
                session.writer().array(found);
                session.writer().append(keys);
            }
            keys.close();
        }

        @Override
        public void onClosed(final Session session)
        {
            keys.close();
        }
    }

    /** Counts words; of few it reads the records, and leaves out those behind their deadlines. */
    private static final class Count extends ScanTask
    {
        private boolean isReading;
        private long sum;

        Count(final Session session)
        {
            super(session, RequestKind.COUNT, 0);
        }

        @Override
        protected boolean take(final Session session, final byte[] page, final long next)
        {
            if (isReading)
            {
                sum += records(page);
                return true;
            }
            final CountPage counted = CountPage.of(page);
            sum += null == counted ? 0 : counted.records();
            if (RecordPage.END == next && sum > 0 && sum <= MOST_READ)
            {
                isReading = true;
                sum = 0;
                again(RequestKind.SCAN, 0);
            }
            return true;
        }

        @Override
        protected void reply(final Session session)
        {
            session.writer().number(sum);
        }
    }

    /** One of some keys behind a place of the table that a number chooses; where few are left, of the first ones. */
    private static final class RandomKey extends ScanTask
    {
        private static final int ENOUGH = 64;

        private final long random;
        private final List<byte[]> pages = new ArrayList<>();
        private boolean isFromBeginning;
        private int count;

        RandomKey(final Session session, final long random)
        {
            super(session, RequestKind.SCAN, RecordPage.anywhere(random));
            this.random = random;
        }

        @Override
        protected boolean take(final Session session, final byte[] page, final long next)
        {
            pages.add(page);
            count += records(page);
            if (RecordPage.END == next && count < ENOUGH && !isFromBeginning)
            {
                isFromBeginning = true;
                pages.clear();
                count = 0;
                again(RequestKind.SCAN, 0);
            }
            return count < ENOUGH;
        }

        @Override
        protected void reply(final Session session)
        {
            int left = 0 == count ? 0 : (int)Math.floorMod(random, (long)count);
            for (final byte[] page : pages)
            {
                for (int at = 0; at < page.length; at = FlushTask.behind(page, at))
                {
                    if (0 == left--)
                    {
                        session.writer().bulk(page, at + RecordPage.KEY_OFFSET, RecordPage.keyLength(page, at));
                        return;
                    }
                }
            }
            session.writer().nothing();
        }
    }

    private TableCommands()
    {
    }

    private static int records(final byte[] page)
    {
        int records = 0;
        for (int at = 0; at < page.length; at = FlushTask.behind(page, at))
        {
            records++;
        }
        return records;
    }

    static void scan(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        final long cursor = cursor(arguments);
        GlobPattern pattern = null;
        long count = DEFAULT_COUNT;
        boolean isOtherType = false;
        String error = NO_CURSOR == cursor ? BAD_CURSOR : null;
        for (int i = 2; i < arguments.count() && null == error; i += 2)
        {
            if (i + 1 == arguments.count())
            {
                error = Arguments.SYNTAX_ERROR;
            }
            else if (Arguments.is(arguments, i, "MATCH"))
            {
                pattern = new GlobPattern(arguments.isKept(i + 1) ? arguments.bytes(i + 1) : new byte[0]);
            }
            else if (Arguments.is(arguments, i, "COUNT"))
            {
                error = Arguments.isNumber(arguments, i + 1) ? null : Arguments.NO_INTEGER;
                count = null == error ? Arguments.number(arguments, i + 1) : 0;
                error = null == error && count < 1 ? Arguments.SYNTAX_ERROR : error;
            }
            else if (Arguments.is(arguments, i, "TYPE"))
            {
                isOtherType = !Arguments.is(arguments, i + 1, "STRING");
            }
            else
            {
                error = Arguments.SYNTAX_ERROR;
            }
        }
        if (null != error)
        {
            session.writer().error(error);
        }
        else if (BEHIND_ALL == cursor)
        {
            session.writer().array(2);
            session.writer().bulk("0");
            session.writer().array(0);
        }
        else
        {
            session.begin(new Scan(session, cursor, pattern, count, isOtherType));
        }
    }

    /** As a number of C, which ends at a zero byte; there is no key behind those that no SCAN has replied. */
    private static long cursor(final RespDecoder arguments)
    {
        final String text = arguments.shownText(1);
        if (text.isEmpty() && arguments.isKept(1))
        {
            return 0;
        }
        if (!CURSOR.matcher(text).matches())
        {
            return NO_CURSOR;
        }
        final BigInteger number = new BigInteger(text);
        return number.bitLength() > Long.SIZE ? NO_CURSOR :
            number.signum() < 0 || number.bitLength() == Long.SIZE ? BEHIND_ALL : number.longValue();
    }

    static void keys(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        session.begin(new Keys(session, new GlobPattern(arguments.isKept(1) ? arguments.bytes(1) : new byte[0])));
    }

    static void dbsize(final Session session)
    {
        session.begin(new Count(session));
    }

    static void randomkey(final Session session)
    {
        // The clock chooses: which key it is has to be nobody's guess, not more.
        session.begin(new RandomKey(session, session.worker().clock().nanoTime() * MIX));
    }

    static void flushdb(final Session session)
    {
        flush(session, true);
    }

    /** All databases: what numbers name. A table that only a name names is no database, and stays. */
    static void flushall(final Session session)
    {
        flush(session, false);
    }

    private static void flush(final Session session, final boolean isOne)
    {
        final RespDecoder arguments = session.arguments();
        if (arguments.count() > 2 || arguments.count() == 2 && !Arguments.is(arguments, 1, "SYNC") &&
            !Arguments.is(arguments, 1, "ASYNC"))
        {
            session.writer().error(Arguments.SYNTAX_ERROR);
        }
        else
        {
            session.begin(new FlushTask(isOne ? session.table() : null));
        }
    }
}
