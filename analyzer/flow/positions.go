package flow

import (
	"reflect"
	"sort"
)

// This file goes over facts of all kinds by what they have in common: they are about
// places in the text.

// lists are the lists of facts, one for each kind.
func (f *Facts) lists(yield func(reflect.Value)) {
	for _, holder := range []reflect.Value{reflect.ValueOf(f).Elem(), reflect.ValueOf(&f.Observed).Elem()} {
		for i := range holder.NumField() {
			if list := holder.Field(i); list.Kind() == reflect.Slice {
				yield(list)
			}
		}
	}
}

var locationType = reflect.TypeFor[Location]()

// about are the places that the facts are about themselves, without those that they
// mention as evidence.
func (f *Facts) about(yield func(Location)) {
	f.lists(func(list reflect.Value) {
		for i := range list.Len() {
			fact := list.Index(i)
			for k := range fact.NumField() {
				if field := fact.Field(k); field.Type() == locationType {
					yield(field.Interface().(Location))
				}
			}
		}
	})
}

// position is the first place that a fact is about.
func position(fact reflect.Value) Location {
	for k := range fact.NumField() {
		if field := fact.Field(k); field.Type() == locationType {
			return field.Interface().(Location)
		}
	}
	return Location{}
}

// mergedFacts are the facts of several groups in one, by position.
func mergedFacts(all []*Facts) *Facts {
	if len(all) == 1 {
		out := *all[0]
		return &out
	}
	out := &Facts{}
	var into []reflect.Value
	out.lists(func(list reflect.Value) { into = append(into, list) })
	for _, f := range all {
		i := 0
		f.lists(func(list reflect.Value) {
			if list.Len() > 0 {
				into[i].Set(reflect.AppendSlice(into[i], list))
			}
			i++
		})
	}
	for _, list := range into {
		sort.SliceStable(list.Interface(), func(i, j int) bool { return position(list.Index(i)).Node < position(list.Index(j)).Node })
	}
	return out
}

// moved are facts that are about other places.
func (f *Facts) moved(to func(Location) Location) *Facts {
	out := *f
	out.lists(func(list reflect.Value) {
		if list.Len() > 0 {
			list.Set(movedValue(list, to))
		}
	})
	return &out
}

// movedValue is a copy of a value with all locations in it moved.
func movedValue(v reflect.Value, to func(Location) Location) reflect.Value {
	switch {
	case v.Type() == locationType:
		return reflect.ValueOf(to(v.Interface().(Location)))
	case v.Kind() == reflect.Slice && v.Len() > 0:
		out := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			out.Index(i).Set(movedValue(v.Index(i), to))
		}
		return out
	case v.Kind() == reflect.Pointer && !v.IsNil():
		out := reflect.New(v.Type().Elem())
		out.Elem().Set(movedValue(v.Elem(), to))
		return out
	case v.Kind() == reflect.Struct:
		out := reflect.New(v.Type()).Elem()
		out.Set(v)
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				out.Field(i).Set(movedValue(v.Field(i), to))
			}
		}
		return out
	}
	return v
}
