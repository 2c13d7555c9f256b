package io.verbena.elle.linear;

import java.util.List;

/**
 * The models that are built in. All are immutable and may be shared.
 */
public final class Models
{
    private static final List<Model<?>> ALL = List.of(
        register(), casRegister(), versionedRegister(), kvMap(), versionedKvMap(), set(), counter(), queue(), mutex());

    private Models()
    {
    }

    /**
     * One value, null at first. Functions {@code read}, {@code write v}.
     *
     * @return the model.
     */
    public static Model<?> register()
    {
        return new RegisterModel(false, null);
    }

    /**
     * One value. Functions {@code read}, {@code write v}, {@code cas [old new]} (answer false: it was not old).
     *
     * @return the model, null at first.
     */
    public static Model<?> casRegister()
    {
        return casRegister(null);
    }

    /**
     * A cas register that begins with a value.
     *
     * @param initialValue before the first operation.
     * @return the model.
     */
    public static Model<?> casRegister(final Object initialValue)
    {
        return new RegisterModel(true, initialValue);
    }

    /**
     * A cas register whose answers carry versions; functions as {@link #versionedKvMap()}, but it holds null at first.
     *
     * @return the model.
     */
    public static Model<?> versionedRegister()
    {
        return VersionedModel.register();
    }

    /**
     * A map: {@code get}, {@code put v}, {@code append v}, {@code put-if-absent v}, {@code put-if-present v},
     * {@code replace [old new]}, {@code delete}, {@code exists}, {@code increment n}, each on the operation's key.
     * Answer false: the condition did not hold.
     *
     * @return the model.
     */
    public static Model<?> kvMap()
    {
        return new KeyValueModel();
    }

    /**
     * A map with versions that grow with each write while the key is present.
     *
     * <p>{@code get} answers {@code [value version]} or null; {@code put v}, {@code append v},
     * {@code put-if-absent v}, {@code put-if-present v} and {@code replace [expectedVersion v]} answer the new version
     * (null: done, but not reported), the latter three {@code false}, and but for put-if-present also
     * {@code [false version]}, if refused; {@code increment n} answers {@code [new version]}; {@code delete} answers
     * true, false, or null; {@code delete-version v} true or false; {@code exists} true or false. A refused operation
     * may be recorded as failed instead, which says less.
     *
     * @return the model.
     */
    public static Model<?> versionedKvMap()
    {
        return VersionedModel.map();
    }

    /**
     * A set: {@code add x}, {@code remove x}, {@code contains x}, {@code read}.
     *
     * @return the model.
     */
    public static Model<?> set()
    {
        return new SetModel();
    }

    /**
     * A number from 0: {@code add n}, {@code add-and-get n}, {@code read}.
     *
     * @return the model.
     */
    public static Model<?> counter()
    {
        return new CounterModel();
    }

    /**
     * A first-in-first-out queue: {@code enqueue v}, {@code dequeue} (null: it was empty).
     *
     * @return the model.
     */
    public static Model<?> queue()
    {
        return new QueueModel();
    }

    /**
     * A lock: {@code acquire}, {@code release}, by whomever.
     *
     * @return the model.
     */
    public static Model<?> mutex()
    {
        return new MutexModel();
    }

    /**
     * All built-in models.
     *
     * @return in the order in which they are shown to users.
     */
    public static List<Model<?>> all()
    {
        return ALL;
    }

    /**
     * Finds a model by its name.
     *
     * @param name as {@link Model#name()} gives it.
     * @return the model.
     * @throws IllegalArgumentException if there is none of that name; names all.
     */
    public static Model<?> byName(final String name)
    {
        for (final Model<?> model : ALL)
        {
            if (model.name().equals(name))
            {
                return model;
            }
        }
        throw new IllegalArgumentException("no model " + name + ": there are " +
            String.join(", ", ALL.stream().map(Model::name).toList()));
    }
}
