package io.verbena.compute.catalog;

import io.verbena.protocol.control.ControlCall;
import io.verbena.protocol.message.ControlStatus;
import io.verbena.protocol.message.TableEntry;
import io.verbena.protocol.session.MetaLink;
import io.verbena.raas.failure.Backoff;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;

/**
 * Asks the meta server about any number of tables, a few at a time, since a node has few calls and its heartbeats need
 * one of them. What was answered stays so; what failed is asked again after a pause. Owned by the node's thread.
 *
 * @param <T> what a table is to whom asks.
 */
public final class TableInquiry<T>
{
    /** Tables asked about at a time. */
    private static final int MAX_CALLS = 16;

    /**
     * Takes answers.
     *
     * @param <T> what a table is to whom asks.
     */
    public interface Taker<T>
    {
        /**
         * Takes one.
         *
         * @param asked      the table.
         * @param entry      what has its name, or null when nothing has.
         * @param askedNews  {@link TableRegistry#news()} when it was asked.
         * @return whether that will do; if not, it is asked again.
         */
        boolean take(T asked, TableEntry entry, long askedNews);
    }

    private record Question<T>(T table, String name)
    {
    }

    private record Asked<T>(Question<T> question, ControlCall<TableEntry> call, long news)
    {
    }

    private final MetaLink metaLink;
    private final TableRegistry tables;
    private final long timeoutNs;
    private final Taker<T> taker;
    private final ArrayDeque<Question<T>> waiting = new ArrayDeque<>();
    private final List<Asked<T>> asked = new ArrayList<>(MAX_CALLS);
    private final Backoff backoff;
    private boolean isPausing;
    private long againAtNs;
    private String failure = "";

    /**
     * @param tables    knows what was heard.
     * @param timeoutNs of a call.
     * @param taker     of answers, in {@link #poll}.
     */
    public TableInquiry(
        final MetaLink metaLink, final TableRegistry tables, final long timeoutNs, final Taker<T> taker)
    {
        this.metaLink = metaLink;
        this.tables = tables;
        this.timeoutNs = timeoutNs;
        this.taker = taker;
        backoff = metaLink.retryBackoff();
    }

    /**
     * Has a table asked about.
     *
     * @param table what {@link Taker#take} gets.
     * @param name  that the meta server is asked for.
     */
    public void add(final T table, final String name)
    {
        waiting.add(new Question<>(table, name));
    }

    /** @return whether an answer to everything was taken. */
    public boolean isDone()
    {
        return waiting.isEmpty() && asked.isEmpty();
    }

    /** @return why something was not answered last, one line for people; empty when nothing failed. */
    public String failure()
    {
        return failure;
    }

    /**
     * Takes answers, and asks again after a pause what failed.
     *
     * @param nowNs time now, by the clock of the device.
     * @return work done.
     */
    public int poll(final long nowNs)
    {
        int workCount = 0;
        for (int i = asked.size() - 1; i >= 0; i--)
        {
            if (asked.get(i).call().isDone())
            {
                onEnded(asked.remove(i), nowNs);
                workCount++;
            }
        }
        return workCount + ask(nowNs);
    }

    private void onEnded(final Asked<T> ended, final long nowNs)
    {
        final ControlCall<TableEntry> call = ended.call();
        final boolean isThere = ControlStatus.OK == call.status();
        if (isThere || ControlStatus.NO_SUCH_TABLE == call.status())
        {
            if (taker.take(ended.question().table(), isThere ? call.result() : null, ended.news()))
            {
                backoff.reset();
                return;
            }
        }
        else
        {
            failure = "table " + ended.question().name() + ": " + call.status() + " " + call.failure();
        }
        waiting.add(ended.question());
        isPausing = true;
        againAtNs = nowNs + backoff.nextPauseNs();
    }

    private int ask(final long nowNs)
    {
        isPausing &= againAtNs - nowNs > 0;
        if (isPausing || !metaLink.isUsable())
        {
            return 0;
        }
        int workCount = 0;
        while (asked.size() < MAX_CALLS && !waiting.isEmpty())
        {
            final Question<T> question = waiting.poll();
            asked.add(new Asked<>(
                question, metaLink.client().table(question.name(), timeoutNs), tables.news()));
            workCount++;
        }
        return workCount;
    }
}
