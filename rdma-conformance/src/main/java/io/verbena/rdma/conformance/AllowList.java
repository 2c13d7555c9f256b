package io.verbena.rdma.conformance;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;

/**
 * The rules that may fail on a path, each with its reason: the only way for a rule to count as unsupported. A resource
 * file for each path, one rule a line:
 * <pre>
 * Contract.rule  unsupported  why the device has no such thing
 * Contract.rule  deviates     what it does instead, and why that is so
 * Contract.rule  not-run      what it would do to the machine
 * Contract.rule  holds        here, although the list that this one amends names it
 * </pre>
 * {@code unsupported} rules have to end in {@link io.verbena.rdma.verbs.UnsupportedVerbException}; those that
 * {@code deviate} may end in any failure. A rule on the list that passes fails the run, so that lists do not outlive
 * their reasons.
 */
public final class AllowList
{
    /** A list that allows nothing, for providers without a file. */
    public static final AllowList NOTHING = new AllowList("none", Map.of());

    /** What a rule may do. */
    public enum Leave
    {
        /** End in {@link io.verbena.rdma.verbs.UnsupportedVerbException}. */
        UNSUPPORTED,
        /** End in any failure. */
        DEVIATES,
        /** Not be run at all. */
        NOT_RUN,
        /** Pass, whatever an amended list says. */
        HOLDS
    }

    /**
     * One rule's leave.
     *
     * @param leave  what it may do.
     * @param reason in words.
     */
    public record Entry(Leave leave, String reason)
    {
    }

    private final String name;
    private final Map<String, Entry> entries;

    private AllowList(final String name, final Map<String, Entry> entries)
    {
        this.name = name;
        this.entries = Map.copyOf(entries);
    }

    /**
     * Reads the list of a path.
     *
     * @param name of the path, such as {@code soft}.
     * @return the list; an empty one when there is no file.
     */
    public static AllowList of(final String name)
    {
        try (InputStream file = AllowList.class.getResourceAsStream("allow-list/" + name + ".txt"))
        {
            return file == null ? NOTHING : parse(name, new String(file.readAllBytes(), StandardCharsets.UTF_8));
        }
        catch (final IOException ex)
        {
            throw new UncheckedIOException(ex);
        }
    }

    /**
     * @param name for messages.
     * @param text lines as above; blank ones and those that begin with {@code #} mean nothing.
     * @return the list.
     */
    public static AllowList parse(final String name, final String text)
    {
        final Map<String, Entry> entries = new TreeMap<>();
        int number = 0;
        for (final String line : text.lines().toList())
        {
            number++;
            if (line.isBlank() || line.startsWith("#"))
            {
                continue;
            }
            final String[] words = line.strip().split("\\s+", 3);
            final Leave leave = words.length < 3 ? null : leave(words[1]);
            if (leave == null)
            {
                throw new IllegalArgumentException("allow-list " + name + ", line " + number +
                    ": expected 'Contract.rule unsupported|deviates|not-run|holds reason', found '" + line + "'");
            }
            if (entries.put(words[0], new Entry(leave, words[2])) != null)
            {
                throw new IllegalArgumentException(
                    "allow-list " + name + ", line " + number + ": " + words[0] + " stands there twice");
            }
        }
        return new AllowList(name, entries);
    }

    private static Leave leave(final String word)
    {
        return switch (word)
        {
            case "unsupported" -> Leave.UNSUPPORTED;
            case "deviates" -> Leave.DEVIATES;
            case "not-run" -> Leave.NOT_RUN;
            case "holds" -> Leave.HOLDS;
            default -> null;
        };
    }

    /**
     * This list with the entries of another one instead of its own for the same rules.
     *
     * @param other a list for a variant of the path.
     * @return a list of the other one's name.
     */
    public AllowList amendedBy(final AllowList other)
    {
        final Map<String, Entry> amended = new TreeMap<>(entries);
        amended.putAll(other.entries);
        amended.values().removeIf(entry -> entry.leave == Leave.HOLDS);
        return new AllowList(other.name, amended);
    }

    /** @return name of the list. */
    public String name()
    {
        return name;
    }

    /** @return the entries by rule, {@code Contract.rule}. */
    public Map<String, Entry> entries()
    {
        return entries;
    }
}
