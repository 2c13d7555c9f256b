package io.verbena.resp.command;

import io.verbena.protocol.request.CountPage;
import io.verbena.protocol.request.OperationAnswer;
import io.verbena.protocol.request.RecordPage;
import io.verbena.protocol.request.RequestKind;
import io.verbena.resp.codec.RespDecoder;
import io.verbena.resp.codec.RespWriter;
import io.verbena.resp.session.Session;
import io.verbena.resp.session.TableOperation;

import java.util.ArrayDeque;

/** Commands on a table as a whole; each of them walks over it, and none is atomic. Stateless. */
final class TableCommands
{
    private static final int DEFAULT_COUNT = 10;
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
        protected void onClosed(final Session session)
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
        protected void onClosed(final Session session)
        {
            keys.close();
        }
    }

    private static final class Count extends ScanTask
    {
        private long sum;

        Count(final Session session)
        {
            super(session, RequestKind.COUNT, 0);
        }

        @Override
        protected boolean take(final Session session, final byte[] page, final long next)
        {
            final CountPage counted = CountPage.of(page);
            sum += null == counted ? 0 : counted.records();
            return true;
        }

        @Override
        protected void reply(final Session session)
        {
            session.writer().number(sum);
        }
    }

    /** A key from a place that a number chooses; from the beginning where there is none behind it. */
    private static final class RandomKey extends ScanTask
    {
        private final long random;
        private byte[] page = {};
        private int at;

        RandomKey(final Session session, final long random)
        {
            super(session, RequestKind.SCAN, 0);
            this.random = random;
        }

        @Override
        protected boolean take(final Session session, final byte[] found, final long next)
        {
            int records = 0;
            for (int i = 0; i < found.length; i = behind(found, i))
            {
                records++;
            }
            if (records > 0)
            {
                page = found;
                at = 0;
                for (long left = Math.floorMod(random, records); left > 0; left--)
                {
                    at = behind(page, at);
                }
            }
            return 0 == records;
        }

        @Override
        protected void reply(final Session session)
        {
            if (0 == page.length)
            {
                session.writer().nothing();
            }
            else
            {
                session.writer().bulk(page, at + RecordPage.KEY_OFFSET, RecordPage.keyLength(page, at));
            }
        }
    }

    /** Deletes what it meets, one page after the other. */
    private static final class Flush extends Session.Task
    {
        private static final int AT_A_TIME = 64;

        private final ArrayDeque<byte[]> pages = new ArrayDeque<>();
        private long position;
        private int at;
        private int underWay;
        private boolean isScanning;
        private String failure;

        @Override
        protected void proceed(final Session session)
        {
            while (!isScanning && underWay < AT_A_TIME && null == failure && !isOver())
            {
                final TableOperation operation = session.operation();
                if (null == operation)
                {
                    return;
                }
                if (pages.isEmpty())
                {
                    isScanning = true;
                    operation.ask(RequestKind.SCAN, position);
                }
                else
                {
                    underWay++;
                    delete(operation);
                }
            }
            if (0 == underWay && !isScanning)
            {
                end(session);
            }
        }

        private boolean isOver()
        {
            return pages.isEmpty() && RecordPage.END == position;
        }

        private void delete(final TableOperation operation)
        {
            final byte[] page = pages.peek();
            operation.keyOf(page, at + RecordPage.KEY_OFFSET, RecordPage.keyLength(page, at));
            at = behind(page, at);
            if (at == page.length)
            {
                pages.poll();
                at = 0;
            }
            operation.ask(RequestKind.DELETE, 0);
        }

        private void end(final Session session)
        {
            if (null == failure)
            {
                session.writer().ok();
            }
            else
            {
                session.writer().error(failure);
            }
            session.endTask();
        }

        @Override
        protected void onAnswer(final Session session, final TableOperation operation)
        {
            failure = null == failure ? operation.failure() : failure;
            if (RequestKind.SCAN == operation.kind())
            {
                isScanning = false;
                if (null == failure && OperationAnswer.FOUND == operation.answer())
                {
                    position = operation.version();
                    if (operation.foundLength() > 0)
                    {
                        pages.add(operation.foundValue());
                    }
                }
                else if (null == failure)
                {
                    failure = "ERR the table cannot be walked over now";
                }
            }
            else
            {
                underWay--;
            }
            session.release(operation);
        }
    }

    private TableCommands()
    {
    }

    private static int behind(final byte[] page, final int at)
    {
        return at + RecordPage.KEY_OFFSET + RecordPage.keyLength(page, at) + RecordPage.valueLength(page, at);
    }

    static void scan(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        final boolean isCursor = Arguments.isNumber(arguments, 1) && Arguments.number(arguments, 1) >= 0;
        GlobPattern pattern = null;
        long count = DEFAULT_COUNT;
        boolean isOtherType = false;
        String error = isCursor ? null : BAD_CURSOR;
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
        else
        {
            session.begin(new Scan(session, Arguments.number(arguments, 1), pattern, count, isOtherType));
        }
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
        session.begin(new RandomKey(session, session.worker().clock().nanoTime()));
    }

    static void flushdb(final Session session)
    {
        final RespDecoder arguments = session.arguments();
        if (arguments.count() > 2 || arguments.count() == 2 && !Arguments.is(arguments, 1, "SYNC") &&
            !Arguments.is(arguments, 1, "ASYNC"))
        {
            session.writer().error(Arguments.SYNTAX_ERROR);
        }
        else
        {
            session.begin(new Flush());
        }
    }
}
