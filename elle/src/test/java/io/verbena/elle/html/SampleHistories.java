package io.verbena.elle.html;

import io.verbena.elle.history.Event;
import io.verbena.elle.history.EventType;
import io.verbena.elle.history.History;
import io.verbena.elle.history.HistoryBuilder;

import java.util.Arrays;
import java.util.SplittableRandom;

/** Histories of registers with times, for pictures: linearizable but for stale reads where asked for. */
final class SampleHistories
{
    private final SplittableRandom random;
    private final HistoryBuilder builder = new HistoryBuilder();
    private final Long[] values;
    private final Long[] before;
    private final int[] stage;
    private final int[] process;
    private final int[] key;
    private final Long[] argument;
    private final Long[] answer;
    private long timeNs;

    private SampleHistories(final int processes, final int keys, final long seed)
    {
        random = new SplittableRandom(seed);
        values = new Long[keys];
        before = new Long[keys];
        stage = new int[processes];
        process = new int[processes];
        key = new int[processes];
        argument = new Long[processes];
        answer = new Long[processes];
        Arrays.setAll(process, i -> i);
    }

    static History registers(
        final int operations, final int processes, final int keys, final long seed, final int staleAt)
    {
        return new SampleHistories(processes, keys, seed).run(operations, staleAt);
    }

    private History run(final int operations, final int staleAt)
    {
        int begun = 0;
        int ended = 0;
        int processes = process.length;
        while (ended < operations)
        {
            timeNs += 20_000 + random.nextInt(400_000);
            final int i = random.nextInt(process.length);
            if (stage[i] == 0 && begun < operations)
            {
                begun++;
                call(i, begun);
            }
            else if (stage[i] == 1)
            {
                takeEffect(i, ended >= staleAt);
            }
            else if (stage[i] == 2)
            {
                ended++;
                stage[i] = 0;
                final int dice = random.nextInt(100);
                if (dice < 2)
                {
                    add(i, EventType.INFO, null);
                    process[i] = processes++;
                }
                else
                {
                    add(i, EventType.OK, answer[i]);
                }
            }
        }
        return builder.build();
    }

    private void call(final int i, final int number)
    {
        key[i] = random.nextInt(values.length);
        argument[i] = random.nextInt(3) == 0 ? (Long)(long)number : null;
        stage[i] = 1;
        add(i, EventType.INVOKE, argument[i]);
    }

    private void takeEffect(final int i, final boolean isStale)
    {
        stage[i] = 2;
        if (argument[i] == null)
        {
            answer[i] = isStale ? before[key[i]] : values[key[i]];
        }
        else
        {
            before[key[i]] = values[key[i]];
            values[key[i]] = argument[i];
            answer[i] = argument[i];
        }
    }

    private void add(final int i, final EventType type, final Object value)
    {
        final String f = type == EventType.INVOKE ? argument[i] == null ? "read" : "write" : null;
        final String name = type == EventType.INVOKE ? "k" + key[i] : null;
        builder.add(new Event(process[i], type, f, name, value, timeNs, -1, 0));
    }
}
