package io.verbena.rdma.conformance.remote;

import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;

/**
 * Bytes of the values that the verbs contract passes: primitives, strings, arrays, enums, records, plain objects by
 * their fields, and objects with behaviour as numbers. Both ends run the same classes. Used by one thread.
 */
final class ValueCodec
{
    private static final String CONTRACT = "io.verbena.rdma.";

    /** Numbers for objects that stay where they are. */
    interface References
    {
        /** Whether an object is passed as a number. */
        boolean isReference(Object value);

        /** Writes the number of an object, and what the other side has to know about it. */
        void write(DataOutput out, Object value) throws IOException;

        /** Reads what {@link #write} wrote. */
        Object read(DataInput in) throws IOException;
    }

    private enum Tag
    {
        NULL, BOOLEAN, INT, LONG, STRING, BYTES, INTS, LONGS, ENUM, RECORD, LIST, SET, FIELDS, REFERENCE
    }

    private final References references;

    ValueCodec(final References references)
    {
        this.references = references;
    }

    void write(final DataOutput out, final Object value) throws IOException
    {
        switch (value)
        {
            case null -> out.writeByte(Tag.NULL.ordinal());
            case final Boolean flag ->
            {
                out.writeByte(Tag.BOOLEAN.ordinal());
                out.writeBoolean(flag);
            }
            case final Integer number ->
            {
                out.writeByte(Tag.INT.ordinal());
                out.writeInt(number);
            }
            case final Long number ->
            {
                out.writeByte(Tag.LONG.ordinal());
                out.writeLong(number);
            }
            case final String text ->
            {
                out.writeByte(Tag.STRING.ordinal());
                out.writeUTF(text);
            }
            case final Enum<?> constant ->
            {
                out.writeByte(Tag.ENUM.ordinal());
                out.writeUTF(constant.getDeclaringClass().getName());
                out.writeByte(constant.ordinal());
            }
            default -> writeComposed(out, value);
        }
    }

    private void writeComposed(final DataOutput out, final Object value) throws IOException
    {
        switch (value)
        {
            case final byte[] bytes ->
            {
                out.writeByte(Tag.BYTES.ordinal());
                out.writeInt(bytes.length);
                out.write(bytes);
            }
            case final int[] numbers -> writeAll(out, Tag.INTS, Arrays.stream(numbers).boxed().toList());
            case final long[] numbers -> writeAll(out, Tag.LONGS, Arrays.stream(numbers).boxed().toList());
            case final List<?> list -> writeAll(out, Tag.LIST, list);
            case final Collection<?> set -> writeAll(out, Tag.SET, set);
            default -> writeObject(out, value);
        }
    }

    private void writeAll(final DataOutput out, final Tag tag, final Collection<?> values) throws IOException
    {
        out.writeByte(tag.ordinal());
        out.writeInt(values.size());
        for (final Object value : values)
        {
            write(out, value);
        }
    }

    private void writeObject(final DataOutput out, final Object value) throws IOException
    {
        if (references.isReference(value))
        {
            out.writeByte(Tag.REFERENCE.ordinal());
            references.write(out, value);
            return;
        }
        final Class<?> type = value.getClass();
        out.writeByte((type.isRecord() ? Tag.RECORD : Tag.FIELDS).ordinal());
        out.writeUTF(type.getName());
        for (final Field field : fields(type))
        {
            write(out, get(field, value));
        }
    }

    Object read(final DataInput in) throws IOException
    {
        return switch (Tag.values()[in.readUnsignedByte()])
        {
            case NULL -> null;
            case BOOLEAN -> in.readBoolean();
            case INT -> in.readInt();
            case LONG -> in.readLong();
            case STRING -> in.readUTF();
            case ENUM -> type(in.readUTF()).getEnumConstants()[in.readUnsignedByte()];
            case BYTES ->
            {
                final byte[] bytes = new byte[in.readInt()];
                in.readFully(bytes);
                yield bytes;
            }
            case INTS -> readAll(in).stream().mapToInt(Integer.class::cast).toArray();
            case LONGS -> readAll(in).stream().mapToLong(Long.class::cast).toArray();
            case LIST -> readAll(in);
            case SET -> new HashSet<>(readAll(in));
            case RECORD -> readRecord(in);
            case FIELDS -> readFields(in);
            case REFERENCE -> references.read(in);
        };
    }

    private List<Object> readAll(final DataInput in) throws IOException
    {
        final int count = in.readInt();
        final List<Object> values = new ArrayList<>(count);
        for (int i = 0; i < count; i++)
        {
            values.add(read(in));
        }
        return values;
    }

    private Object readRecord(final DataInput in) throws IOException
    {
        final Class<?> type = type(in.readUTF());
        final RecordComponent[] components = type.getRecordComponents();
        final Object[] values = new Object[components.length];
        for (int i = 0; i < values.length; i++)
        {
            values[i] = read(in);
        }
        final Class<?>[] types = Arrays.stream(components).map(RecordComponent::getType).toArray(Class<?>[]::new);
        try
        {
            return type.getDeclaredConstructor(types).newInstance(values);
        }
        catch (final ReflectiveOperationException ex)
        {
            throw new IOException("cannot make a " + type.getName(), ex);
        }
    }

    private Object readFields(final DataInput in) throws IOException
    {
        final Class<?> type = type(in.readUTF());
        final List<Field> fields = fields(type);
        final List<Object> values = new ArrayList<>();
        for (int i = 0; i < fields.size(); i++)
        {
            values.add(read(in));
        }
        final Object made = make(type);
        for (int i = 0; i < fields.size(); i++)
        {
            set(fields.get(i), made, values.get(i));
        }
        return made;
    }

    /** Whether a call may change an argument of this kind for its caller. */
    static boolean isMutable(final Object value)
    {
        return value != null && value.getClass().getName().startsWith(CONTRACT) && !value.getClass().isRecord() &&
            !value.getClass().isEnum() && !java.lang.reflect.Proxy.isProxyClass(value.getClass());
    }

    /** Gives an object the fields of another one of its class. */
    static void copy(final Object from, final Object to) throws IOException
    {
        for (final Field field : fields(to.getClass()))
        {
            set(field, to, get(field, from));
        }
    }

    private static Class<?> type(final String name) throws IOException
    {
        if (!name.startsWith(CONTRACT))
        {
            throw new IOException("not of the contract: " + name);
        }
        try
        {
            return Class.forName(name);
        }
        catch (final ClassNotFoundException ex)
        {
            throw new IOException("no such class: " + name, ex);
        }
    }

    private static Object make(final Class<?> type) throws IOException
    {
        try
        {
            final Constructor<?> constructor = type.getDeclaredConstructors()[0];
            constructor.setAccessible(true);
            return constructor.newInstance(
                Arrays.stream(constructor.getParameterTypes()).map(parameter -> (Object)1).toArray());
        }
        catch (final ReflectiveOperationException ex)
        {
            throw new IOException("cannot make a " + type.getName(), ex);
        }
    }

    private static List<Field> fields(final Class<?> type)
    {
        return Arrays.stream(type.getDeclaredFields())
            .filter(field -> !Modifier.isStatic(field.getModifiers()))
            .peek(field -> field.setAccessible(true)).toList();
    }

    private static Object get(final Field field, final Object from) throws IOException
    {
        try
        {
            return field.get(from);
        }
        catch (final IllegalAccessException ex)
        {
            throw new IOException("cannot read " + field, ex);
        }
    }

    private static void set(final Field field, final Object to, final Object value) throws IOException
    {
        try
        {
            field.set(to, value);
        }
        catch (final IllegalAccessException ex)
        {
            throw new IOException("cannot set " + field, ex);
        }
    }
}
