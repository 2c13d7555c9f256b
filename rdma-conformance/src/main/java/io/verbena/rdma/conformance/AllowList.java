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
 * </pre>
 * {@code unsupported} rules have to end in {@link io.verbena.rdma.verbs.UnsupportedVerbException}; those that
 * {@code deviate} may end in any failure. A rule on the list that passes fails the run, so that lists do not outlive
 * their reasons.
 */
public final class AllowList
{
    /** A list that allows nothing, for providers without a file. */
    public static final AllowList NOTHING = new AllowList("none", Map.of());

    /**
     * One rule's leave.
     *
     * @param deviates whether any failure is allowed.
     * @param reason   in words.
     */
    public record Entry(boolean deviates, String reason)
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
            if (words.length < 3 || !words[1].equals("unsupported") && !words[1].equals("deviates"))
            {
                throw new IllegalArgumentException("allow-list " + name + ", line " + number +
                    ": expected 'Contract.rule unsupported|deviates reason', found '" + line + "'");
            }
            if (entries.put(words[0], new Entry(words[1].equals("deviates"), words[2])) != null)
            {
                throw new IllegalArgumentException(
                    "allow-list " + name + ", line " + number + ": " + words[0] + " stands there twice");
            }
        }
        return new AllowList(name, entries);
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
